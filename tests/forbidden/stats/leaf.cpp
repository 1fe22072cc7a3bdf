// Input of a test: stats/ is a leaf, so this include is forbidden.
#include "engine/run.h"

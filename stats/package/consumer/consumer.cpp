// Input of a test: the least that uses the installed library. Ends with 0 when the change is right.
#include <stats/comparison.h>

#include <vector>

int main() {
    using namespace vsb::stats;
    const std::vector<Pair> pairs{
        {1, 2, Order::ab}, {1, 2, Order::ba}, {1, 2, Order::ab}, {1, 2, Order::ba}};
    return compare(pairs, {}).change == 1 ? 0 : 1;
}

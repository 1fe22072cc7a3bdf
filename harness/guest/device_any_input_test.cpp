#include "harness/guest/device_any_input.h"

#include <gtest/gtest.h>

#include <random>

namespace vsb::guest {
namespace {

// Programs drawn step by step, so that a good part of them gets as far as an open connection.
std::string drawn(std::mt19937_64& random) {
    std::string input;
    const auto put = [&input](std::uint64_t byte) { input += static_cast<char>(byte & 0xff); };
    // Rings up, buffers posted, a job begun, its REQUEST sent, and an answer to it.
    for (const int byte : {0, 0, 1, 3})
        put(static_cast<std::uint64_t>(byte));
    put(random());
    put(11);
    for (const int byte : {2, 2, 0, 0, 16, 0, 0, 0, 0, 0, 0, 11})
        put(static_cast<std::uint64_t>(byte));
    const std::size_t steps = 1 + random() % 40;
    for (std::size_t i = 0; i < steps; ++i) {
        const std::size_t size = 1 + random() % 14;
        put(random() % 3 == 0 ? 11 : random() % 12);
        for (std::size_t k = 1; k < size; ++k)
            put(random() % 3 == 0 ? random() : random() % 8);
    }
    return input;
}

TEST(DeviceAnyInput, KeepsItsPromisesWhateverTheGuestDoes) {
    std::mt19937_64 random(11);
    for (int i = 0; i < 500; ++i) {
        const std::string input = drawn(random);
        ASSERT_EQ(broken_device_promise(input), "") << "program " << i;
    }
}

}  // namespace
}  // namespace vsb::guest

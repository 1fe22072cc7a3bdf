#include "engine/vsock/socket_tables.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace vsb::engine {
namespace {

class SocketTablesTest : public testing::Test {
  protected:
    ~SocketTablesTest() override {
        tables.clear(me);
        for (Socket* sk : made)
            sk->put(me);
    }
    Socket& make(const Address& local, const Address& remote) {
        auto* sk = new Socket(pool, PacketType::stream, 1000);
        sk->local = local;
        sk->remote = remote;
        made.push_back(sk);
        return *sk;
    }
    Current me;
    SkbPool pool{4, 1024};
    SocketTables tables;
    std::vector<Socket*> made;
};

TEST_F(SocketTablesTest, FindsByPeerAndLocalPortAmongThoseThatShareABucket) {
    // Ports a multiple of 251 apart fall into one chain.
    std::vector<Socket*> sockets;
    for (std::uint32_t i = 0; i < 10; ++i) {
        sockets.push_back(&make({3, 100 + 251 * i}, {2, 7}));
        tables.insert_connected(*sockets.back());
    }
    for (std::uint32_t i = 0; i < 10; ++i) {
        Socket* found = tables.find_connected({2, 7}, {3, 100 + 251 * i}, me);
        EXPECT_EQ(found, sockets[i]);
        if (found != nullptr) found->put(me);
    }
    EXPECT_EQ(tables.find_connected({2, 8}, {3, 100}, me), nullptr);  // other peer port
    EXPECT_EQ(tables.find_connected({9, 7}, {3, 100}, me), nullptr);  // other peer
    EXPECT_EQ(tables.find_connected({2, 7}, {3, 101}, me), nullptr);  // other local port
    EXPECT_EQ(me.counts.connected_lookups, 13U);
}

TEST_F(SocketTablesTest, FindTakesAReferenceAndRemoveDropsTheTables) {
    Socket& sk = make({3, 1}, {2, 1});
    tables.insert_connected(sk);
    EXPECT_EQ(sk.references, 2U);
    Socket* found = tables.find_connected({2, 1}, {3, 1}, me);
    ASSERT_EQ(found, &sk);
    EXPECT_EQ(sk.references, 3U);
    found->put(me);
    EXPECT_TRUE(tables.remove_connected(sk, me));
    EXPECT_EQ(sk.references, 1U);
    EXPECT_FALSE(tables.remove_connected(sk, me));
    EXPECT_EQ(tables.find_connected({2, 1}, {3, 1}, me), nullptr);
}

TEST_F(SocketTablesTest, BoundByPortAndCidOrAnyCid) {
    Socket& any = make({kAnyCid, 5}, {});
    Socket& exact = make({3, 6}, {});
    tables.insert_bound(any);
    tables.insert_bound(exact);
    Socket* found = tables.find_bound({77, 5}, me);
    EXPECT_EQ(found, &any);
    found->put(me);
    found = tables.find_bound({3, 6}, me);
    EXPECT_EQ(found, &exact);
    found->put(me);
    EXPECT_EQ(tables.find_bound({4, 6}, me), nullptr);
    EXPECT_EQ(tables.find_connected({0, 0}, {3, 6}, me), nullptr);  // bound is not connected
    EXPECT_TRUE(tables.remove_bound(any, me));
    EXPECT_EQ(tables.find_bound({77, 5}, me), nullptr);
}

TEST_F(SocketTablesTest, LookUpsAndRemovalsFromTwoThreads) {
    for (int round = 0; round < 200; ++round) {
        Socket& sk = make({3, 1}, {2, 1});
        tables.insert_connected(sk);
        std::thread finder([&] {
            Current other;
            for (int i = 0; i < 50; ++i)
                if (Socket* found = tables.find_connected({2, 1}, {3, 1}, other)) found->put(other);
        });
        EXPECT_TRUE(tables.remove_connected(sk, me));
        finder.join();
        EXPECT_EQ(sk.references, 1U);
    }
}

}  // namespace
}  // namespace vsb::engine

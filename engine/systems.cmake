# The systems beside virtio-vsock-rx: their sources and tests in the room's library and test program.
target_sources(vsb_engine PRIVATE
  headline.cpp
  trial/parameters.cpp
  trial/pattern.cpp
  trial/trial.cpp
  vhost_vsock_used/batched.cpp
  vhost_vsock_used/guest.cpp
  vhost_vsock_used/noop.cpp
  vhost_vsock_used/per_buffer.cpp
  vhost_vsock_used/publish.cpp
  vhost_vsock_used/send_queue.cpp
  vhost_vsock_used/system.cpp
  vhost_vsock_used/worker.cpp
  vhost_net_rx/batch.cpp
  vhost_net_rx/guest.cpp
  vhost_net_rx/noop.cpp
  vhost_net_rx/packet_pool.cpp
  vhost_net_rx/per_skb.cpp
  vhost_net_rx/producer.cpp
  vhost_net_rx/slab.cpp
  vhost_net_rx/system.cpp
  vhost_net_rx/worker.cpp
  dgram_sendmsg/grace_period.cpp
  dgram_sendmsg/lockless.cpp
  dgram_sendmsg/noop.cpp
  dgram_sendmsg/receive_queue.cpp
  dgram_sendmsg/receiver.cpp
  dgram_sendmsg/socket_lock.cpp
  dgram_sendmsg/system.cpp
  dgram_sendmsg/transport.cpp)

if(TARGET engine_tests)
  target_sources(engine_tests PRIVATE
    headline_test.cpp
    trial/trial_test.cpp
    vhost_vsock_used/publish_test.cpp
    vhost_vsock_used/system_test.cpp
    vhost_net_rx/dequeue_test.cpp
    vhost_net_rx/ptr_ring_test.cpp
    vhost_net_rx/system_test.cpp
    dgram_sendmsg/grace_period_test.cpp
    dgram_sendmsg/system_test.cpp)
  # rapidcheck's properties as GoogleTest tests
  target_link_libraries(engine_tests PRIVATE rapidcheck_gtest)
endif()

vsb_benchmark(bench_systems SOURCES bench/bench_systems.cpp LINK vsb_engine)

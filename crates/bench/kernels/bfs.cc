// bench: graph search in C++ with containers and atomics
// full: 300000 10
// reduced: 60000 3
// quick: 3000 1
//
// Breadth-first search, level by level: a vertex is claimed with compare-and-swap, each thread gathers the vertices it
// claimed in a vector of its own, and the last to arrive at a barrier of mutex and condition variable joins the
// vectors into the next frontier. The levels that come out do not depend on who claims what.
#include "kernel.h"

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace {

constexpr int kDegree = 16;
constexpr int32_t kUnseen = -1;

struct Graph {
    std::vector<uint32_t> offsets;
    std::vector<uint32_t> targets;

    explicit Graph(uint32_t vertices) {
        uint64_t seed = 31;
        for (uint32_t vertex = 0; vertex < vertices; vertex++) {
            offsets.push_back(static_cast<uint32_t>(targets.size()));
            targets.push_back((vertex + 1) % vertices);
            auto degree = next_random(&seed) % (2 * kDegree);
            for (uint64_t edge = 0; edge < degree; edge++)
                targets.push_back(static_cast<uint32_t>(next_random(&seed) % vertices));
        }
        offsets.push_back(static_cast<uint32_t>(targets.size()));
    }
};

class Search {
  public:
    Search(const Graph &graph, uint32_t source)
        : graph_(graph), levels_(graph.offsets.size() - 1), frontier_{source}, gathered_(THREADS) {
        for (auto &level : levels_) level.store(kUnseen, std::memory_order_relaxed);
        levels_[source].store(0, std::memory_order_relaxed);
    }

    void work(int thread) {
        for (int32_t level = 1; !frontier_.empty(); level++) {
            auto &mine = gathered_[thread];
            auto first = frontier_.size() * thread / THREADS, last = frontier_.size() * (thread + 1) / THREADS;
            for (auto at = first; at < last; at++) visit(frontier_[at], level, mine);
            meet();
        }
    }

    uint64_t checksum() const {
        uint64_t hash = 0;
        for (const auto &level : levels_) hash = mix(hash, static_cast<uint64_t>(level.load()) + 2);
        return hash;
    }

  private:
    void visit(uint32_t vertex, int32_t level, std::vector<uint32_t> &mine) {
        for (auto edge = graph_.offsets[vertex]; edge < graph_.offsets[vertex + 1]; edge++) {
            auto &target = levels_[graph_.targets[edge]];
            auto unseen = kUnseen;
            if (target.load(std::memory_order_relaxed) == kUnseen &&
                target.compare_exchange_strong(unseen, level, std::memory_order_acq_rel))
                mine.push_back(graph_.targets[edge]);
        }
    }

    void meet() {
        std::unique_lock<std::mutex> guard(lock_);
        auto generation = generation_;
        if (++arrived_ < THREADS) {
            all_here_.wait(guard, [&] { return generation != generation_; });
            return;
        }
        frontier_.clear();
        for (auto &part : gathered_) {
            frontier_.insert(frontier_.end(), part.begin(), part.end());
            part.clear();
        }
        arrived_ = 0;
        generation_++;
        all_here_.notify_all();
    }

    const Graph &graph_;
    std::vector<std::atomic<int32_t>> levels_;
    std::vector<uint32_t> frontier_;
    std::vector<std::vector<uint32_t>> gathered_;
    std::mutex lock_;
    std::condition_variable all_here_;
    int arrived_ = 0;
    uint64_t generation_ = 0;
};

}  // namespace

int main(int argc, char **argv) {
    auto size = kernel_argument(argc, argv, 1, "SIZE");
    auto rounds = kernel_argument(argc, argv, 2, "ROUNDS");
    Graph graph(static_cast<uint32_t>(size));
    uint64_t hash = 0;
    for (long round = 0; round < rounds; round++) {
        auto search = std::make_unique<Search>(graph, static_cast<uint32_t>(round * 7919 % size));
        std::vector<std::thread> threads;
        for (int thread = 0; thread < THREADS; thread++) threads.emplace_back(&Search::work, search.get(), thread);
        for (auto &thread : threads) thread.join();
        hash = mix(hash, search->checksum());
    }
    print_checksum(hash);
    return 0;
}

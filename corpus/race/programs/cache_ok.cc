// A cache behind a read-write lock: look up for reading, on a miss insert for writing, evict under the same lock. Values are
// copied out. Hit counts are atomics. Silent in every mode.
//@ flags: -O1 -std=c++17
// expect: nothing
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

class Cache {
  public:
    std::string Get(int key) {
        {
            std::shared_lock<std::shared_mutex> hold(mu_);
            auto found = entries_.find(key);
            if (found != entries_.end()) {
                hits.fetch_add(1, std::memory_order_relaxed);
                return found->second;
            }
        }
        std::string value(30, static_cast<char>('a' + key % 26));
        std::unique_lock<std::shared_mutex> hold(mu_);
        if (entries_.size() > 30) entries_.erase(entries_.begin());
        entries_.emplace(key, value);
        return value;
    }
    std::atomic<long> hits{0};

  private:
    std::shared_mutex mu_;
    std::unordered_map<int, std::string> entries_;
};

int main() {
    Cache cache;
    std::vector<std::thread> threads;
    for (int id = 0; id < 4; id++)
        threads.emplace_back([&cache, id] {
            for (int i = 0; i < 800; i++) {
                int key = (i * 7 + id) % 50;
                if (cache.Get(key)[29] != 'a' + key % 26) std::abort();
            }
        });
    for (auto &t : threads) t.join();
    return cache.hits == 0;
}

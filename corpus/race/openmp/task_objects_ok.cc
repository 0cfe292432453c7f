// Objects of C++ in tasks and sections: copied into a task, private to a thread with memory of their own, a task for each node of a tree.
//@ flags: -O1 -fopenmp
// expect: nothing
#include <memory>
#include <string>
#include <vector>

struct Node {
    std::unique_ptr<Node> left, right;
    int value = 0;
};

static void build(std::unique_ptr<Node> &at, int depth) {
    at = std::make_unique<Node>();
    if (depth == 0) return;
#pragma omp task shared(at)
    build(at->left, depth - 1);
#pragma omp task shared(at)
    build(at->right, depth - 1);
#pragma omp taskwait
    at->value = 1 + (at->left ? at->left->value : 0) + (at->right ? at->right->value : 0);
}

static thread_local std::vector<int> cache;

static int through_cache(int n) {
    cache.assign(50, n);
    int sum = 0;
    for (int c : cache) sum += c;
    return sum;
}

int main() {
    std::unique_ptr<Node> root;
    std::vector<int> results(40);
    std::string name = "a name that is too long to be kept inside of the string";
#pragma omp parallel num_threads(3)
#pragma omp single
    {
        build(root, 6);
        for (int i = 0; i < 40; i++) {
#pragma omp task firstprivate(name, i) shared(results)
            {
                name += std::to_string(i);
                results[i] = (int)name.size() + through_cache(i);
            }
        }
    }
    std::vector<int> own;
    int all = 0;
#pragma omp parallel num_threads(2) firstprivate(own)
    {
#pragma omp sections
        {
#pragma omp section
            own.assign(100, 1);
#pragma omp section
            own.assign(200, 2);
#pragma omp section
            own.push_back(3);
        }
#pragma omp atomic
        all += (int)own.size();
    }
    return root->value && results[39] && all ? 0 : 1;
}

// C++ objects that tasks carry with them are copied by code of the compiler's, while the task is created; a task that throws and
// catches; loops of tasks with such objects; exceptions inside a region.
//@ flags: -O1 -fopenmp
// expect: nothing
#include <stdexcept>
#include <string>
#include <vector>

static std::vector<std::string> results(20);

int main() {
    int caught = 0;
#pragma omp parallel num_threads(3)
    {
#pragma omp single
        {
            for (int i = 0; i < 10; i++) {
                std::string text = "a string that is too long for the small buffer " + std::to_string(i);
                std::vector<int> numbers(i, 7);
#pragma omp task firstprivate(text, numbers)
                results[i] = text + std::to_string(numbers.size());
                text += " changed";
            }
            std::string prefix = "another string that does not fit into the object itself ";
#pragma omp taskloop firstprivate(prefix) grainsize(2)
            for (int i = 10; i < 20; i++) results[i] = prefix + std::to_string(i);
        }
        try {
            throw std::runtime_error("inside");
        } catch (const std::runtime_error &) {
#pragma omp atomic
            caught++;
        }
    }
    for (const auto &r : results)
        if (r.empty()) return 1;
    return caught == 3 ? 0 : 1;
}

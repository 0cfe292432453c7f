// The code of a detached task ends long before its event is fulfilled: what fulfils it still comes
// before what depends on the task.
//@ flags: -O1 -fopenmp
// expect: nothing
#include <omp.h>
#include <unistd.h>

static int by_event, handed_over;

static void events(void) {
    omp_event_handle_t event;
#pragma omp task detach(event) depend(out : by_event)
    {
        usleep(2000);
        by_event++;
    }
#pragma omp task
    {
        usleep(20000);
        handed_over++;
        omp_fulfill_event(event);
    }
#pragma omp task depend(in : by_event)
    handed_over += by_event;
#pragma omp taskwait
    handed_over++;
}

int main(void) {
#pragma omp parallel num_threads(3)
#pragma omp single
    for (int i = 0; i < 5; i++) events();
    return handed_over == 3 * 5 + 10 ? 0 : 1;
}

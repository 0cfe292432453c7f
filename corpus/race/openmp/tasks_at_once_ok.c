// Tasks that are never put off, tasks that exclude each other, and events: what each orders.
//@ flags: -O1 -fopenmp
// expect: nothing
#include <omp.h>
#include <stdlib.h>

static int at_once, in_final, exclusive, critical, locked, by_event, looped, taken, yielded;
static omp_lock_t lock;

static void never_put_off(void) {
#pragma omp task if (0)
    at_once++;
    at_once++;
#pragma omp task final(1)
    {
        for (int i = 0; i < 5; i++) {
#pragma omp task
            in_final++;
        }
        in_final++;
    }
#pragma omp taskwait
    in_final++;
#pragma omp taskloop if (0) num_tasks(4)
    for (int i = 0; i < 20; i++) looped++;
    looped++;
}

static void exclude_each_other(void) {
    for (int i = 0; i < 10; i++) {
#pragma omp task depend(mutexinoutset : exclusive)
        exclusive++;
#pragma omp task
        {
#pragma omp critical
            critical++;
        }
#pragma omp task
        {
            omp_set_lock(&lock);
            locked++;
            omp_unset_lock(&lock);
#pragma omp taskyield
#pragma omp atomic
            yielded++;
        }
    }
#pragma omp taskwait
}

static void events(void) {
    omp_event_handle_t event;
#pragma omp task detach(event) depend(out : by_event)
    by_event++;
#pragma omp task depend(inout : taken)
    {
        taken++;
        omp_fulfill_event(event);
    }
#pragma omp task depend(in : by_event)
    taken += by_event;
#pragma omp taskwait
    by_event++;
    taken++;
}

int main(void) {
    omp_init_lock(&lock);
#pragma omp parallel num_threads(3)
#pragma omp single
    {
        never_put_off();
        exclude_each_other();
        events();
    }
    omp_destroy_lock(&lock);
    return at_once == 2 && in_final == 7 && exclusive == 10 && critical == 10 && locked == 10 && by_event == 2 && taken == 3 &&
                   looped == 21 && yielded == 10
               ? 0
               : 1;
}

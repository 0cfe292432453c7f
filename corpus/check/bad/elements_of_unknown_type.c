// The elements of an array are different objects, also where a missing header has their type. A
// store to one leaves the others as they are, behind a pointer and in their members too.
#include <pthread.h>
#include "platform.h"

struct table {
    platform_state states[4];
    platform_slot slots[4];
};

static struct table table;
static int first, second, third;

static void *work(void *data) {
    first++; // expect: data-race #1
    second++; // expect: data-race #2
    third++; // expect: data-race #3
    return data;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    table.states[1] = 1;
    table.states[0] = 0;
    if (table.states[1] == 1)
        first++; // expect: data-race #1
    *(table.states + 3) = 1;
    *(table.states + 2) = 0;
    if (*(table.states + 3) == 1)
        second++; // expect: data-race #2
    table.slots[1].used = 1;
    table.slots[0].used = 0;
    if (table.slots[1].used == 1)
        third++; // expect: data-race #3
    pthread_join(t, 0);
    return first + second + third;
}

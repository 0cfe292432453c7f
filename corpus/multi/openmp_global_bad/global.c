long count;
static _Thread_local long own;

void count_up(void) {
    count++; // expect: data-race #1
}

long used(void) { return own++; }

// As the correct program, but `count` is read before the thread is joined, and the callback runs
// beside the thread.
extern void my_mutex_lock(void *);
extern void my_mutex_unlock(void *);
extern unsigned long my_thread_create(void *(*)(void *), void *);
extern void my_thread_join(unsigned long);
extern void visit_all(void (*)(int *));

static struct operations {
    void (*take)(void *);
    void (*give)(void *);
    unsigned long (*begin)(void *(*)(void *), void *);
    void (*wait_for)(unsigned long);
    void (*visit)(void (*)(int *));
} operations = {my_mutex_lock, my_mutex_unlock, my_thread_create, my_thread_join, visit_all};

static int m, count, visits;

static void visitor(int *unused) {
    visits++; // expect: data-race #2
}

static void add(void) {
    operations.take(&m);
    for (int i = 0; i < 20; i++)
        count++; // expect: data-race write #1
    operations.give(&m);
}

static void *work(void *arg) {
    add();
    visits++; // expect: data-race #2
    return arg;
}

int main(void) {
    unsigned long t = operations.begin(work, 0);
    operations.visit(visitor);
    add();
    int total = count; // expect: data-race read #1
    operations.wait_for(t);
    return total;
}

// A join by a function of which only the name is known, behind the access.
extern int os_thread_create(unsigned long *id, void *(*f)(void *), void *arg);
extern int JoinThread(unsigned long id);

static int frames;

static void *render(void *arg)
{
    frames++; // expect: data-race #1
    return 0;
}

int main(void)
{
    unsigned long id;
    if (os_thread_create(&id, render, 0) != 0)
        return 1;
    frames = 0; // expect: data-race #1
    JoinThread(id);
    return frames;
}

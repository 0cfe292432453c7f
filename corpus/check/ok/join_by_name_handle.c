// The right twin of join_by_name_late.c.
extern int os_thread_create(unsigned long *id, void *(*f)(void *), void *arg);
extern int JoinThread(unsigned long id);

static int frames;

static void *render(void *arg)
{
    frames++;
    return 0;
}

int main(void)
{
    unsigned long id;
    if (os_thread_create(&id, render, 0) != 0)
        return 1;
    JoinThread(id);
    frames = 0;
    return frames;
}

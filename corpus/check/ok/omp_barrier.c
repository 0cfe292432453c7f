// The loop's own barrier, a barrier by hand, single, master, critical and atomic.
static int a[12], b[12], total, count, once;

int main(void) {
    int flag = 0;
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < 12; i++)
            a[i] = i;
#pragma omp for
        for (int i = 0; i < 12; i++)
            b[i] = a[11 - i];
#pragma omp single
        once = b[3];
        int mine = once;
#pragma omp critical
        total += mine;
#pragma omp atomic
        count++;
#pragma omp barrier
#pragma omp master
        flag = total + count;
    }
    return flag;
}

// Figure 2 and Table 3, Quicksort Broken: the two halves overlap.
using System.Threading.Tasks;

class Program {
    static void Sort(int[] array, int left, int right) {
        var pivot = array[(left + right) / 2]; // expect: data-race #1
        var lower = left;
        var upper = right;
        do {
            while (array[lower] < pivot) lower++; // expect: data-race #1
            while (array[upper] > pivot) upper--; // expect: data-race #1
            if (lower <= upper) {
                var temp = array[lower]; // expect: data-race #1
                array[lower] = array[upper]; // expect: data-race #1
                array[upper] = temp; // expect: data-race #1
                lower++;
                upper--;
            }
        } while (lower <= upper);
        var leftTask = Task.Run(() => {
            if (left < upper) Sort(array, left, lower);
        });
        var rightTask = Task.Run(() => {
            if (lower < right) Sort(array, upper, right);
        });
        rightTask.Wait();
        leftTask.Wait();
    }
    static void Main() {
        var array = new[] { 7, 3, 9, 1, 8, 2, 6, 4, 5, 0 };
        Sort(array, 0, array.Length - 1);
    }
}

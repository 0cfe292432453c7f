// Table 3, Quicksort Fixed: the halves are apart.
using System.Threading.Tasks;

class Program {
    static void Sort(int[] array, int left, int right) {
        var pivot = array[(left + right) / 2];
        var lower = left;
        var upper = right;
        do {
            while (array[lower] < pivot) lower++;
            while (array[upper] > pivot) upper--;
            if (lower <= upper) {
                var temp = array[lower];
                array[lower] = array[upper];
                array[upper] = temp;
                lower++;
                upper--;
            }
        } while (lower <= upper);
        var leftTask = Task.Run(() => {
            if (left < upper) Sort(array, left, upper);
        });
        var rightTask = Task.Run(() => {
            if (lower < right) Sort(array, lower, right);
        });
        rightTask.Wait();
        leftTask.Wait();
    }
    static void Main() {
        var array = new[] { 7, 3, 9, 1, 8, 2, 6, 4, 5, 0 };
        Sort(array, 0, array.Length - 1);
    }
}

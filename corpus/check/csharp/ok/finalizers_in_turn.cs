// All finalizers run on one thread, one after the other.
class Resource {
    static int closed;

    ~Resource() {
        closed++;
    }
}

class Program {
    static void Open() {
        new Resource();
        new Resource();
    }

    static void Main() {
        Open();
        System.GC.Collect();
        Open();
        System.GC.Collect();
    }
}

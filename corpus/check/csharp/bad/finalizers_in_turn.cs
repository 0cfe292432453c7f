// All finalizers run on one thread, but not on the one that makes the objects.
class Resource {
    public static int Open;

    public Resource() {
        Open++; // expect: data-race #1
    }

    ~Resource() {
        Open--; // expect: data-race #1
    }
}

class Program {
    static void Make() {
        new Resource();
    }

    static void Main() {
        Make();
        System.GC.Collect();
        Make();
        System.GC.Collect();
    }
}

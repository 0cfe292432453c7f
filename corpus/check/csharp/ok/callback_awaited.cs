// A library that nobody knows calls a function and waits for its task.
using System;
using System.Threading.Tasks;

public class Runner {
    public int Run(dynamic library) {
        int result = 0;
        library.Execute((Func<Task>)(async () => {
            await Task.Run(() => { });
            result = 1;
        }));
        return result;
    }
}

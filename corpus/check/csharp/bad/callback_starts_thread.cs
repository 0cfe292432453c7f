// A library that nobody knows calls a function, which starts a thread.
using System;
using System.Threading;

public class Runner {
    public int Run(dynamic library) {
        int result = 0;
        library.Execute((Action)(() => {
            new Thread(() => { result = 1; }).Start(); // expect: data-race #1
        }));
        return result; // expect: data-race #1
    }
}

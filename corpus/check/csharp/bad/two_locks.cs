// Two methods take different locks.
using System.Threading;

class Account {
    int balance;
    readonly object a = new object(), b = new object();
    public void Add() { lock (a) { balance++; } } // expect: data-race #1
    public void Take() { lock (b) { balance--; } } // expect: data-race #1
}
class Program {
    static void Main() {
        var account = new Account();
        var t = new Thread(account.Add);
        t.Start();
        account.Take();
        t.Join();
    }
}

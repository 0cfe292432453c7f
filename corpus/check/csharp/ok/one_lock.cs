// Both take the same.
using System.Threading;

class Account {
    int balance;
    readonly object a = new object(), b = new object();
    public void Add() { lock (a) { balance++; } }
    public void Take() { lock (a) { balance--; } }
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

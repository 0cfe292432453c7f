// Table 3, Bank Fixed: no circle of transfers.
using System.Threading;

class BankAccount {
    private int balance;
    private readonly object sync = new object();
    public void Deposit(int amount) {
        lock (sync) {
            balance += amount;
        }
    }
    public void Transfer(BankAccount other, int amount) {
        lock (sync) {
            balance -= amount;
            other.Deposit(amount);
        }
    }
}
class Program {
    static void Main() {
        var account1 = new BankAccount();
        var account2 = new BankAccount();
        var account3 = new BankAccount();
        new Thread(() => account1.Transfer(account2, 5)).Start();
        new Thread(() => account2.Transfer(account3, 5)).Start();
        new Thread(() => account1.Transfer(account3, 5)).Start();
    }
}

// expect: nothing
// One thread adds elements while another reads the text of all, under one lock.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using System.Xml;

class Program {
    static readonly object gate = new object();
    static readonly XmlDocument document = new XmlDocument();
    static XmlElement root;
    static int length;

    static void First(int i) {
        lock (gate) {
            root.AppendChild(root.CloneNode(false));
        }
    }

    static void Second(int i) {
        lock (gate) {
            length = root.InnerText.Length;
        }
    }

    static void Main() {
        document.LoadXml("<r/>");
        root = document.DocumentElement;
        var one = new Thread(() => { for (int i = 0; i < 40; i++) { First(i); Thread.Sleep(3); } });
        var two = new Thread(() => { for (int i = 0; i < 40; i++) { Second(i); Thread.Sleep(3); } });
        one.Start();
        two.Start();
        one.Join();
        two.Join();
        Console.WriteLine("done");
    }
}

// Figure 10(b) of the paper: hosts are validated in parallel and cached in one dictionary.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

class Validator {
    readonly Dictionary<string, int> configureCache = new Dictionary<string, int>(1000);

    int GetConfigLevel(string host) {
        Thread.Sleep(3);
        return host.Length;
    }

    public void Validate(IEnumerable<string> hosts) {
        Parallel.ForEach(hosts, new ParallelOptions { MaxDegreeOfParallelism = 4 }, host => {
            int level = GetConfigLevel(host);
            configureCache[host] = level;    // expect: thread-safety-violation
        });
    }
}

class Program {
    static void Main() {
        var hosts = new string[200];
        for (int i = 0; i < hosts.Length; i++)
            hosts[i] = "host" + i;
        new Validator().Validate(hosts);
        Console.WriteLine("done");
    }
}

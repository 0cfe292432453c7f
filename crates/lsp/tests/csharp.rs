//! C# in an editor: underlined as C is, with the other files of its project, half typed or not.

mod common;

use common::Client;

const PROGRAM: &str = "using System.Threading.Tasks;
class Program {
    static void Main() {
        var t = Task.Run(() => { Counter.Value = 1; });
        Counter.Value = 2;
        t.Wait();
    }
}
";

#[test]
fn a_race_over_two_files_goes_when_it_is_repaired() {
    let mut client = Client::started();
    client.write("Counter.cs", "static class Counter { public static int Value; }\n");
    client.open_as("Program.cs", "csharp", PROGRAM);
    client.until_lines("Program.cs", &[3, 4]);
    // Half typed: what is whole is still checked.
    client.replace("Program.cs", 2, &format!("{PROGRAM}class Next {{ void F() {{ if ("));
    client.until_version("Program.cs", 2);
    client.until_lines("Program.cs", &[3, 4]);
    let repaired = PROGRAM.replace(
        "        Counter.Value = 2;\n        t.Wait();\n",
        "        t.Wait();\n        Counter.Value = 2;\n",
    );
    client.replace("Program.cs", 3, &repaired);
    client.until_lines("Program.cs", &[]);
    client.end();
}

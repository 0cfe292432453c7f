// A page of MAUI lives on the UI thread, and a task of the pool does not.
using System;
using System.Threading.Tasks;
using Microsoft.Maui.Controls;

public partial class StatusPage : ContentPage {
    private string status, text;

    private async void OnRefresh(object sender, EventArgs e) {
        await Task.Run(() => status = "working"); // expect: data-race write #1
        await Task.Delay(10).ConfigureAwait(false);
        text = "refreshed"; // expect: data-race write #2
    }

    private void OnShow(object sender, EventArgs e) {
        Title = status + text; // expect: data-race read #1, data-race read #2
    }
}

// A page of MAUI lives on the UI thread: its events and what follows an await in them. Other threads
// hand their work to the main thread.
using System;
using System.Threading.Tasks;
using Microsoft.Maui.Controls;

public partial class StatusPage : ContentPage {
    private string status;

    public StatusPage() {
        Task.Run(() => MainThread.BeginInvokeOnMainThread(() => status = "loaded"));
    }

    private async void OnRefresh(object sender, EventArgs e) {
        await Task.Run(() => { });
        status = "refreshed";
        await Task.Delay(10);
        status = status + "!";
    }

    private void OnShow(object sender, EventArgs e) {
        Title = status;
    }
}

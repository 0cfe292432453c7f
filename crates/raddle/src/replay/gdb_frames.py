import gdb


def own_frames(frames):
    """The frames of the program, up to where the stack of a thread begins."""
    for frame in frames:
        if frame.name() is None:
            return
        if not frame.name().startswith("raddle_rt::"):
            yield frame


def stack():
    frame = gdb.newest_frame()
    while frame:
        yield frame
        frame = frame.older()


class WithoutRuntime:
    """Leaves raddle's own frames out of a backtrace. `backtrace -no-filters` shows them."""

    def __init__(self):
        self.name = "raddle"
        self.priority = 100
        self.enabled = True
        gdb.frame_filters[self.name] = self

    def filter(self, decorated):
        own = {frame.level() for frame in own_frames(stack())}
        # A crash is seen from a signal handler, behind which the frames may have no names.
        return (frame for frame in decorated if not own or frame.inferior_frame().level() in own)


class Where(gdb.Command):
    """Show where the program is: the backtrace, and the innermost frame of its own."""

    def __init__(self):
        super().__init__("raddle-where", gdb.COMMAND_STACK)

    def invoke(self, _arguments, _from_terminal):
        frame = next(own_frames(stack()), None)
        if frame is not None:
            frame.select()
            gdb.execute("backtrace")
            gdb.execute("frame")
        elif (gdb.newest_frame().name() or "").startswith("raddle_rt::explore::switch"):
            print("No thread of the program is running: raddle is about to choose one.")
        else:
            gdb.execute("backtrace")


WithoutRuntime()
Where()

package command

import "github.com/tfdeps/tfdeps/command/view"

// setProgress is for the option -progress.
func (o *initOptions) setProgress(text string) (err error) {
	o.progress, err = view.ParseProgress(text)
	return err
}

// progress finds out how downloads are shown. Where nobody says so, there are
// no bars for terminals that can't draw, nor among the lines of the debug log.
func (m *Meta) progress(asked view.Progress) view.Progress {
	if asked == view.ProgressAuto && (m.Env.Get("TERM") == "dumb" || m.Log != nil) {
		return view.ProgressPlain
	}
	return asked
}

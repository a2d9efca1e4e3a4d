// Program look opens charts of Superset in a browser and says what they do not show: look ADDRESS TABLE TOTAL, the numbers of a
// chart of rows and of one of a total that ask.py has made.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/chromedp/chromedp"
)

// patience is how long a chart may take to be there: the first one compiles.
const patience = 2 * time.Minute

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "look ADDRESS TABLE TOTAL")
		os.Exit(2)
	}
	if err := look(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "FAILED", err)
		os.Exit(1)
	}
}

// look signs in and opens both charts.
func look(address, table, total string) error {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.WindowSize(1280, 800))
	alloc, endAlloc := chromedp.NewExecAllocator(context.Background(), options...)
	defer endAlloc()
	browser, end := chromedp.NewContext(alloc)
	defer end()
	if err := chromedp.Do(browser, chromedp.Navigate(address+"/login/"), chromedp.WaitVisible("#username"),
		chromedp.SendKeys("#username", "admin"), chromedp.SendKeys("#password", "admin\n"),
		chromedp.WaitNotPresent("#password")); err != nil {
		return fmt.Errorf("sign in: %w", err)
	}
	for _, one := range []struct{ chart, want string }{
		{table, "host COUNT(*) h1 2 h2 1"},
		{total, "1.5"},
	} {
		got, err := shown(browser, address+"/explore/?standalone=1&slice_id="+one.chart, one.want)
		if err != nil {
			return fmt.Errorf("chart %s: %w", one.chart, err)
		}
		fmt.Printf("ok     chart %s in the browser: %s\n", one.chart, got)
	}
	return nil
}

// shown opens a page of a chart and returns its words once they are what is wanted.
func shown(browser context.Context, url, want string) (string, error) {
	ctx, cancel := context.WithTimeout(browser, patience)
	defer cancel()
	err := chromedp.Do(ctx, chromedp.Navigate(url))
	text, look := "", time.NewTicker(100*time.Millisecond)
	defer look.Stop()
	for ; err == nil; <-look.C {
		if text, err = chromedp.Run(ctx, chromedp.Text("body")); err == nil {
			if text = strings.Join(strings.Fields(text), " "); text == want {
				return text, nil
			}
		}
	}
	return "", fmt.Errorf("%q is there, want %q: %w", text, want, err)
}

// A small service that renders a page for each request, and keeps LEAK bytes of each.
package main

import (
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
)

var (
	lock sync.Mutex
	kept [][]byte
)

func main() {
	leak, _ := strconv.Atoi(os.Getenv("LEAK"))
	http.HandleFunc("/", func(response http.ResponseWriter, _ *http.Request) {
		keep(leak)
		var rows strings.Builder
		for at := 0; at < 200; at++ {
			fmt.Fprintf(&rows, `<li><a href="/%d">https://example.org/%d/%s</a>`, at, at, strings.Repeat("x", 60))
		}
		fmt.Fprintf(response, "<html><ul>%s</ul></html>", rows.String())
	})
	if err := http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil); err != nil {
		panic(err)
	}
}

func keep(size int) {
	if size == 0 {
		return
	}
	lock.Lock()
	defer lock.Unlock()
	kept = append(kept, make([]byte, size))
}

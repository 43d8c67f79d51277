// Package browser tests the page that -o html writes in a real browser, Debian's chromium without a window: what a person does, how long
// the browser is busy with 10,000 findings, and the picture, which is compared with those in testdata/pictures. It is a module of its own,
// so that the library that steers the browser stays out of what users build. The tests are skipped where there is no chromium; make says
// so.
package browser

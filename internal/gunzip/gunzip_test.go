package gunzip

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"

	"github.com/klauspost/compress/gzip"
)

// zip packs a text.
func zip(t *testing.T, text []byte) []byte {
	t.Helper()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

// TestUnpack uses one Reader for texts that are whole, too long, cut short and damaged.
func TestUnpack(t *testing.T) {
	text := bytes.Repeat([]byte("a record of Helm\n"), 1000)
	packed := zip(t, text)
	damaged := bytes.Clone(packed)
	binary.LittleEndian.PutUint32(damaged[len(damaged)-8:], 1)
	short := bytes.Clone(packed)
	binary.LittleEndian.PutUint32(short[len(short)-4:], 5) // a false claim of the size is an error of the format
	var r Reader
	for _, test := range []struct {
		name   string
		packed []byte
		limit  int64
		want   error
	}{
		{"whole", packed, NoLimit, nil},
		{"as large as the limit", packed, int64(len(text)), nil},
		{"two members", append(bytes.Clone(packed), zip(t, nil)...), NoLimit, nil},
		{"too large", packed, int64(len(text)) - 1, ErrTooLarge},
		{"cut short", packed[:len(packed)-9], NoLimit, io.ErrUnexpectedEOF},
		{"empty", nil, NoLimit, io.EOF},
		{"no gzip", text, NoLimit, gzip.ErrHeader},
		{"false checksum", damaged, NoLimit, gzip.ErrChecksum},
		{"false size", short, NoLimit, gzip.ErrChecksum},
		{"whole again", packed, NoLimit, nil},
	} {
		var out bytes.Buffer
		err := r.Unpack(&out, test.packed, test.limit)
		if !errors.Is(err, test.want) || err == nil && !bytes.Equal(out.Bytes(), text) {
			t.Errorf("%s: %d bytes, %v", test.name, out.Len(), err)
		}
	}
}

// TestSizeHint checks that a false claim does not make Unpack allocate the limit.
func TestSizeHint(t *testing.T) {
	packed := zip(t, nil)
	binary.LittleEndian.PutUint32(packed[len(packed)-4:], 1<<31)
	if got := sizeHint(packed, NoLimit); got > 64<<10 {
		t.Errorf("got %d", got)
	}
	if got := sizeHint(zip(t, make([]byte, 12345)), NoLimit); got != 12345 {
		t.Errorf("got %d", got)
	}
}

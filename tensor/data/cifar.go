package data

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"halfnote/internal/save"
	"halfnote/internal/text"
	"halfnote/tensor"
)

// A CIFAR file is a sequence of records: label bytes, then the red, green and blue bytes of
// an image, row by row: https://www.cs.toronto.edu/~kriz/cifar.html, "binary version".

const cifarSide, cifarPixels = 32, 3 * 32 * 32

// cifar is one of the two formats.
type cifar struct {
	format  string
	classes []int // number of classes of each label
	train   []string
	test    []string
}

var cifar10 = cifar{"cifar-10", []int{10},
	[]string{"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"},
	[]string{"test_batch.bin"}}

var cifar100 = cifar{"cifar-100", []int{20, 100}, []string{"train.bin"}, []string{"test.bin"}}

// LoadCIFAR10 returns images (n, 3, 32, 32) of uint8 and their classes (n) of int64, 0 to 9. path
// is a file of the binary version, or the folder of its six files, from which train selects
// the training or the test set. If a file is malformed the error is a *[FormatError]. It is
// torchvision.datasets.CIFAR10.
func LoadCIFAR10(path string, train bool) (*TensorDataset, error) { return cifar10.load(path, train) }

// LoadCIFAR100 is [LoadCIFAR10] for the files with 20 coarse and 100 fine classes. The data set has
// images, coarse classes and fine classes, so a batch's Target is the fine class. It is
// torchvision.datasets.CIFAR100.
func LoadCIFAR100(path string, train bool) (*TensorDataset, error) { return cifar100.load(path, train) }

// SaveCIFAR10 writes images (n, 3, 32, 32) of uint8 with classes (n) of int64 to a file of
// the binary version, atomically.
func SaveCIFAR10(path string, images, classes *tensor.Tensor) error {
	return cifar10.save(path, images, classes)
}

// SaveCIFAR100 is [SaveCIFAR10] with coarse and fine classes.
func SaveCIFAR100(path string, images, coarse, fine *tensor.Tensor) error {
	return cifar100.save(path, images, coarse, fine)
}

func (c cifar) load(path string, train bool) (*TensorDataset, error) {
	files := []string{path}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		files = nil
		names := c.test
		if train {
			names = c.train
		}
		for _, name := range names {
			files = append(files, filepath.Join(path, name))
		}
	}
	var pixels []byte
	labels := make([][]int, len(c.classes))
	for _, file := range files {
		src := source{c.format, file}
		f, size, err := opened(src)
		if err != nil {
			return nil, err
		}
		p, err := c.read(src, f, size, labels)
		f.Close()
		if err != nil {
			return nil, err
		}
		pixels = append(pixels, p...)
	}
	fields := []*tensor.Tensor{tensor.FromBytes(tensor.Uint8, pixels, len(labels[0]), 3, cifarSide, cifarSide)}
	for _, l := range labels {
		fields = append(fields, tensor.FromInts(l, len(l)))
	}
	return NewTensorDataset(fields...), nil
}

// read returns the images in a file of size bytes and appends its labels.
func (c cifar) read(src source, f io.Reader, size int64, labels [][]int) ([]byte, error) {
	record := int64(len(c.classes) + cifarPixels)
	if size%record != 0 {
		return nil, src.bad(atByte(size-size%record), fmt.Sprintf("a record of %d bytes at the end", size%record), fmt.Sprintf("records of %d bytes", record))
	}
	all := make([]byte, size)
	if _, err := io.ReadFull(f, all); err != nil {
		return nil, src.fail(err)
	}
	pixels := all[:0] // labels are removed in place
	for at := int64(0); at < size; at += record {
		for i, classes := range c.classes {
			label := int(all[at+int64(i)])
			if label >= classes {
				return nil, src.bad(atByte(at+int64(i)), fmt.Sprintf("label %d in record %d", label, at/record), fmt.Sprintf("0 to %d", classes-1))
			}
			labels[i] = append(labels[i], label)
		}
		pixels = append(pixels, all[at+int64(len(c.classes)):at+record]...)
	}
	return pixels, nil
}

func (c cifar) save(path string, images *tensor.Tensor, labels ...*tensor.Tensor) error {
	src := source{c.format, path}
	n := 0
	if images.Dim() == 4 {
		n = images.Size(0)
	}
	if images.DType() != tensor.Uint8 || images.Dim() != 4 || images.Numel() != n*cifarPixels || images.Size(1) != 3 || images.Size(2) != cifarSide {
		return src.fail(fmt.Errorf("images of %v and shape %s; want uint8 and (n, 3, 32, 32)", images.DType(), text.Shape(images.Shape())))
	}
	numbers := make([][]int, len(labels))
	for i, l := range labels {
		if l.Dim() != 1 || l.Size(0) != n {
			return src.fail(fmt.Errorf("classes of shape %s; want (%d,)", text.Shape(l.Shape()), n))
		}
		numbers[i] = l.Ints()
		for row, class := range numbers[i] {
			if class < 0 || class >= c.classes[i] {
				return src.fail(fmt.Errorf("class %d of image %d; want 0 to %d", class, row, c.classes[i]-1))
			}
		}
	}
	err := save.File(path, func(w io.Writer) error {
		for row := range n {
			var record []byte
			for _, l := range numbers {
				record = append(record, byte(l[row]))
			}
			if _, err := w.Write(record); err != nil {
				return err
			}
			if _, err := images.Select(0, row).WriteTo(w); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return src.fail(err)
	}
	return nil
}

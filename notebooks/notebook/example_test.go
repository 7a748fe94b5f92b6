package notebook_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"halfnote/kernel/client"
	"halfnote/notebooks/notebook"
)

const source = `{
 "cells": [
  {"cell_type": "markdown", "id": "title", "metadata": {}, "source": "# Greetings"},
  {"cell_type": "code", "id": "hello", "metadata": {}, "source": "print hello", "execution_count": null, "outputs": []}
 ],
 "metadata": {}, "nbformat": 4, "nbformat_minor": 5
}`

// This example uses the kernel of the tests. In its language "print" prints the rest of the line.
func ExampleRun() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	nb, err := notebook.Read(strings.NewReader(source))
	if err != nil {
		fmt.Println(err)
		return
	}
	spec := client.Spec{Argv: []string{os.Args[0], "{connection_file}"}, Env: map[string]string{"NOTEBOOKS_TEST_IS_KERNEL": "1"}, InterruptMode: "message"}
	k, err := client.Start(ctx, spec, client.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer k.Close()
	if err := notebook.Run(ctx, k, nb, notebook.Options{}); err != nil {
		fmt.Println(err)
	}
	for _, cell := range nb.CodeCells() {
		fmt.Printf("In [%d]: %s\n%s", cell.Count, cell.Source, cell.Outputs[0].Text)
	}
	// Output:
	// In [1]: print hello
	// hello
}

func ExampleHTML() {
	nb, err := notebook.Read(strings.NewReader(source))
	if err != nil {
		fmt.Println(err)
		return
	}
	var page bytes.Buffer
	if err := notebook.HTML(&page, nb); err != nil {
		fmt.Println(err)
	}
	fmt.Println(nb.Title(), strings.Contains(page.String(), "<title>Greetings</title>"))
	// Output:
	// Greetings true
}

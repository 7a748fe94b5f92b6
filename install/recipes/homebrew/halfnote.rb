# To be filled in before the project is published: the address of the sources and their checksum.
class Halfnote < Formula
  desc "Jupyter kernel for Go with tensors and automatic mixed precision"
  homepage "https://example.com/owner/halfnote"
  url "https://example.com/owner/halfnote/archive/v0.2.0.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license "BSD-3-Clause"

  depends_on "go" => :build

  def install
    system "go", "build", *std_go_args(ldflags: "-s -w")
  end

  def caveats
    "The command \"halfnote install --user\" adds the kernel to Jupyter."
  end

  test do
    assert_match "halfnote #{version}", shell_output("#{bin}/halfnote version")
  end
end

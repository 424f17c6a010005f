# A formula for a tap. `brew update-python-resources evalreport.rb` writes the resources: the pinned Python packages.
class Evalreport < Formula
  include Language::Python::Virtualenv

  desc "Statistical comparison of machine-learning models from prediction files"
  homepage "https://github.com/OWNER/evalreport"
  url "https://github.com/OWNER/evalreport/archive/refs/tags/v0.1.0.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license "Apache-2.0"

  depends_on "apache-arrow"
  depends_on "numpy"
  depends_on "pango"
  depends_on "python-matplotlib"
  depends_on "python@3.13"
  depends_on "scipy"

  # Resources for: click, duckdb, jinja2, msgspec, narwhals, pyarrow, pypdf, rich, statsmodels, weasyprint, and what they need.

  def install
    virtualenv_install_with_resources
  end

  test do
    system bin/"evalreport", "demo", "-o", testpath/"demo"
    assert_path_exists testpath/"demo/report/report.html"
    assert_match version.to_s, shell_output("#{bin}/evalreport --version")
  end
end

"""What a run leaves behind: report.html, results.json, and tables for other programs."""

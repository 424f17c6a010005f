# Writes r/: predictions of a logistic regression as R writes them by itself (R 4.2.2, nothing but base),
# and r/expected.txt: the accuracy that R counts.

file <- sub("--file=", "", grep("--file=", commandArgs(), value = TRUE))
setwd(dirname(normalizePath(file)))
dir.create("r", FALSE)
setwd("r")
set.seed(1)
x <- rnorm(40)
y <- factor(ifelse(x + rlogis(40) > 0, "yes", "no"))
p <- predict(glm(y ~ x, binomial), type = "response")
t <- data.frame(y_true = y, y_pred = factor(ifelse(p > 0.5, "yes", "no")), p_yes = p)
write.csv(t, "csv.csv")
write.csv2(t, "csv2.csv")
write.table(t, "table_commas.csv", sep = ",")
write.table(t, "table_tabs.tsv", sep = "\t", quote = FALSE)
write.table(t, "table.csv")
write.table(t, "table_bare.csv", quote = FALSE)
write.table(t, "table.txt")
write.csv(data.frame(y_true = y == "yes", y_pred = p > 0.5), "logical.csv")
gap <- t
gap$y_pred[3] <- NA
write.csv(gap, "gap.csv")
writeLines(format(mean(t$y_true == t$y_pred), digits = 17), "expected.txt")

# Adds up the second column, group by group.
{
	if ($1 != "") {
		if (NF > 1) {
			sum[$1] += $2
			lines[$1]++
		}
	}
}
END {
	for (name in sum)
		print name, sum[name]
}

# checked
echo old

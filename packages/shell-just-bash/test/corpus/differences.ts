/** Lines that do something else than on bash and GNU tools, and why that stays. */
export const differences: readonly { readonly line: string; readonly because: string }[] = [
  {
    line: 'set -u; echo $undefined_variable; echo after',
    because: 'just-bash ends with exit code 1, as an interactive bash does; bash -c ends with 127',
  },
  {
    line: 'sort -t, -k3,3 people.csv',
    because: 'sort with keys has the order of a language, in which upper case does not come first',
  },
  {
    line: 'od -c no-newline.txt | head -2',
    because: 'od of just-bash does not show the last offset',
  },
  {
    line: 'od -An -tx1 crlf.txt',
    because: 'od of just-bash knows octal numbers and characters only',
  },
  {
    line: String.raw`sed 's/\r$//' crlf.txt | od -c | head -1`,
    because: 'od of just-bash aligns escapes in another way',
  },
  {
    line: String.raw`awk -F'\t' -v OFS=, '{$1=$1; print}' tabs.tsv`,
    because: 'an assignment to a field does not rebuild the line with OFS',
  },
  {
    line: `awk '{print > "out-" NR % 2 ".txt"}' numbers.txt; cat out-0.txt`,
    because: 'the target of a redirection in awk is a text or a variable, not an expression',
  },
  {
    line: `awk 'NR==FNR{a[$1];next} $1 in a' numbers.txt numbers.txt | wc -l`,
    because: 'naming an element of an array does not make it in the awk of just-bash',
  },
  {
    line: `awk '{sum[$1]+=1} END{print length(sum)}' numbers.txt`,
    because: 'the length of an array is an extension that the awk of just-bash lacks',
  },
  {
    line: `awk 'BEGIN{print -7 % 3, 1e6, 0.1 + 0.2, 100000 * 100000}'`,
    because: 'awks differ in how they print large numbers: mawk has an exponent',
  },
  {
    line: `jq -r '.list[] | [.id, .v] | @csv' config.json`,
    because: '@csv of just-bash quotes only texts that need it',
  },
  {
    line: `jq . <<< 'not json'; echo $?`,
    because: 'the exit code for bad JSON differs between versions of jq',
  },
  {
    line: `jq -c 'unique' <<< '[3,1,3]'`,
    because: 'unique of just-bash keeps the order of the input and does not sort',
  },
  {
    line: 'ls -d */',
    because: 'a pattern that ends in a slash matches files too in just-bash',
  },
]

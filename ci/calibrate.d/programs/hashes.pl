# Fills hashes and splits strings.
use strict;
use warnings;
my %count;
for my $number (0 .. 500_000) {
  my $text = "word-" . ($number * 7919 % 30_011) . " of line $number";
  $count{$1}++ if $text =~ /^word-(\d+) of line \d+$/;
}
print scalar(keys %count), "\n";

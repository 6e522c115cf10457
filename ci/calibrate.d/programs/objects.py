"""Creates objects, groups them, and converts them to text and back."""
import json

rows = [{"id": number, "group": number % 97, "name": f"row {number}"} for number in range(120_000)]
groups = {}
for row in json.loads(json.dumps(rows)):
    groups.setdefault(row["group"], []).append(row)
for group in groups.values():
    group.sort(key=lambda row: row["name"])
print(len(groups))

"""A benchmark as asv runs it: `setup` prepares, `peakmem_parse` is measured."""
import json


class Documents:
    params = [1000, 10000]

    def setup(self, count):
        self.text = json.dumps([{"id": number, "name": "document " * 4} for number in range(count)])

    def peakmem_parse(self, count):
        return [json.loads(self.text) for _ in range(5)]

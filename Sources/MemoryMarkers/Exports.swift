// A program that imports this module has Marks, too; one that needs nothing else imports MemoryMarks alone, and does not
// grow by the rest.
@_exported public import MemoryMarks

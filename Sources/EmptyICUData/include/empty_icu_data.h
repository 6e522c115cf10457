/// Stands for the 34 MB of data of ICU in a statically linked program.
///
/// GRDB, Yams and swift-argument-parser import all of Foundation, and with it the tables of languages, calendars and
/// time zones that ICU carries. Highwater formats dates and numbers without them. The linker takes this definition
/// before that of the archive; in a dynamically linked program it has no effect.
extern const struct hw_icu_data icudt76_dat;

# Evaluates a cask for one system and one architecture, and prints what Homebrew would install as JSON:
#
#   ruby cask.rb FILE macos|linux intel|arm
#
# It knows the stanzas of Homebrew's Cask Cookbook that our cask uses. Every other stanza is an error.
require "json"

FILE, SYSTEM, ARCH = ARGV

module OS
  def self.mac? = SYSTEM == "macos"
  def self.linux? = SYSTEM == "linux"
end

# What a postflight block may call, after the archive was unpacked.
class Postflight
  attr_reader :commands

  def initialize = @commands = []
  def staged_path = "STAGED"
  def system_command(program, args: []) = @commands << [program, *args]
end

class Livecheck
  def skip(_reason) = nil
end

class Cask
  attr_reader :found

  def initialize(token) = @found = { token: token, artifacts: {}, commands: [] }

  %i[name desc homepage sha256].each do |stanza|
    define_method(stanza) do |value|
      raise "#{stanza} is set twice" if @found.key?(stanza)
      @found[stanza] = value
    end
  end

  # Without a value, version is what was set: url uses it.
  def version(value = nil)
    @found[:version] = value if value
    @found.fetch(:version)
  end

  def url(value) = @found[:url] = value

  %i[binary manpage bash_completion zsh_completion fish_completion].each do |stanza|
    define_method(stanza) { |path| (@found[:artifacts][stanza] ||= []) << path }
  end

  { macos: SYSTEM, linux: SYSTEM, intel: ARCH, arm: ARCH }.each do |name, actual|
    define_method("on_#{name}") { |&block| instance_eval(&block) if actual == name.to_s }
  end

  def livecheck(&block) = Livecheck.new.instance_eval(&block)

  def postflight(&block)
    context = Postflight.new
    context.instance_eval(&block)
    @found[:commands] += context.commands
  end
end

def cask(token, &block)
  cask = Cask.new(token)
  cask.instance_eval(&block)
  puts JSON.generate(cask.found)
end

load FILE
